"""Names of columns on the admin pages, in the language of the request: `python -m tests.catalogue` reads them in the
models.
"""

from django.apps import apps
from django.utils.translation import pgettext_lazy

from consumers.words.columns import column_name

# Migrations compare what a model declares, and so see nothing of this.
for model in apps.get_app_config("consumers").get_models():
    for field in (*model._meta.fields, *model._meta.many_to_many):
        field.verbose_name = pgettext_lazy("field", column_name(field.name, model.__name__))
