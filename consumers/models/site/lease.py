"""A named lock in the database, for when Redis is down: whoever holds it until `expires_at` may work."""

from django.db import models


class Lease(models.Model):
    name = models.CharField(max_length=150, primary_key=True)
    holder = models.CharField(max_length=100)
    expires_at = models.DateTimeField()
    seconds = models.FloatField(
        null=True, help_text="For how long it was taken: one with more left was taken by a clock that was ahead"
    )

    def __str__(self) -> str:
        return self.name
