"""Messages that members hold and have not finished."""
