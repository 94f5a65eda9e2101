"""How the admin pages write times, by language: as other pages do on hover, in UTC, and saying so."""

DATE, TIME = "Y-m-d", "H:i:s"
MOMENT = rf"{DATE} {TIME} \U\T\C"
