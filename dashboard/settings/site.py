"""Django itself: applications, middleware, templates, static files, language and time."""

from .environment import flag, section, words
from .home import BASE_DIR, CONSUMERSCOPE_HOME

section("Site")

DEBUG = flag("CONSUMERSCOPE_DEBUG", False, "1: Django's debug pages. Never use it where others can see them.")
ALLOWED_HOSTS = words(
    "CONSUMERSCOPE_ALLOWED_HOSTS",
    "127.0.0.1,localhost,[::1]",
    "Host names that pages answer to. `/healthz` and `/readyz` answer to any.",
)
CONSUMERSCOPE_DEMO = flag(
    "CONSUMERSCOPE_DEMO",
    False,
    "1: pages say that the watched cluster is the demo, and tell its story. `make run` sets it while the demo runs.",
)
ROOT_URLCONF = "dashboard.urls"
WSGI_APPLICATION = "dashboard.wsgi.application"

INSTALLED_APPS = [
    "dashboard.admin_pages.AdminPagesConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "csp",
    "django_htmx",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "consumers",
    "dashboard",
]
MIDDLEWARE = [
    "dashboard.middleware.Languages",
    "dashboard.middleware.WithoutZeroBytes",
    "dashboard.middleware.BehindProxies",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "dashboard.middleware.CommonForAnyProbe",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "dashboard.pages.site.sign_on.SignOnRenewal",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "csp.middleware.CSPMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "consumers.rest.answers.ConditionalAnswers",
    "dashboard.pages.site.zone.ZoneOfReader",
    "dashboard.middleware.AskedOnce",
    "dashboard.pages.site.sent_forms.SentForms",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "dashboard.pages.common.notices.notices_of",
                "dashboard.pages.site.theme.theme_of",
                "dashboard.pages.site.zone.zone_words",
                "dashboard.pages.site.demo.demo_of",
                "dashboard.pages.site.account.languages_of",
            ],
        },
    }
]

STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "django.contrib.staticfiles.finders.AppDirectoriesFinder",
    "dashboard.figures.plotly_files.PlotlyFinder",
]
STATIC_ROOT = CONSUMERSCOPE_HOME / "staticfiles"
# WhiteNoise warns of a folder that is not there.
STATIC_ROOT.mkdir(exist_ok=True)
# Files are served from where they are installed: nothing has to be collected before a page can be opened.
WHITENOISE_USE_FINDERS = True
# plotly.js lies under its version: its address changes when the file does.
WHITENOISE_IMMUTABLE_FILE_TEST = r"^/static/plotly/[0-9.]+/"

# What a reader chose, in a cookie; else what the browser prefers; else English.
LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("zh-hans", "简体中文")]
LANGUAGE_COOKIE_NAME = "language"
LANGUAGE_COOKIE_AGE = 365 * 24 * 3600
LANGUAGE_COOKIE_SAMESITE = "Lax"
LANGUAGE_COOKIE_HTTPONLY = True
LOCALE_PATHS = [BASE_DIR / "dashboard" / "locale"]
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"
FORMAT_MODULE_PATH = "dashboard.formats"

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": "WARNING"},
    "loggers": {"consumers": {"level": "INFO"}, "dashboard": {"level": "INFO"}},
}
