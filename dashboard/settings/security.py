"""Who may come in, and what a page may load."""

from csp.constants import NONE, SELF

from .environment import flag, networks, number, words

LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "overview"
LOGOUT_REDIRECT_URL = "login"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
# People reach the site over HTTPS alone; a proxy in front of it may talk HTTP to it.
CONSUMERSCOPE_HTTPS = SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = flag("CONSUMERSCOPE_HTTPS", False)
# So long browsers refuse to reach it over HTTP.
SECURE_HSTS_SECONDS = int(number("CONSUMERSCOPE_HSTS_SECONDS", 31536000)) if CONSUMERSCOPE_HTTPS else 0
# Proxies whose word for a client's address is taken.
CONSUMERSCOPE_TRUSTED_PROXIES = networks("CONSUMERSCOPE_TRUSTED_PROXIES")
CSRF_TRUSTED_ORIGINS = words("CONSUMERSCOPE_TRUSTED_ORIGINS", "")
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

# Failed logins within so many seconds: of a user name from one address or browser, and of all names from one address.
LOGIN_WINDOW_SECONDS = int(number("LOGIN_WINDOW_SECONDS", 300, least=1))
LOGIN_FAILURES = int(number("LOGIN_FAILURES", 5, least=1))
LOGIN_ADDRESS_FAILURES = int(number("LOGIN_ADDRESS_FAILURES", 50, least=1))

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
    }
}
