"""How the admin pages write times, by language: by the reader's clock, with its zone."""

DATE, TIME = "Y-m-d", "H:i:s"
MOMENT = f"{DATE} {TIME} T"
