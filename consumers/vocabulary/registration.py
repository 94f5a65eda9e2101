"""What is wrong with an option that a cluster is registered with."""

from enum import StrEnum


class OptionProblem(StrEnum):
    NAME = "option_name"  # longest
    ADDRESS = "option_address"  # address
    NO_NAME_SERVER = "option_no_name_server"
    # Of a glob of offset files.
    NO_OFFSET_FILE = "option_no_offset_file"  # glob, names
    OUTSIDE_FOLDERS = "option_outside_folders"  # glob, folders
    GLOB_TWICE = "option_glob_twice"  # glob
    NO_BROKER_NAME = "option_no_broker_name"  # glob
    NOT_ABSOLUTE = "option_not_absolute"  # glob
    NUL = "option_nul"  # glob
    ANY_FOLDERS = "option_any_folders"  # glob
    FOLDER = "option_folder"  # glob
    BACKUP = "option_backup"  # glob, suffix
    # Of TLS, and of what signs requests.
    TLS_PATH = "option_tls_path"
    TLS_KEY_ALONE = "option_tls_key_alone"
    TLS_CA_UNUSED = "option_tls_ca_unused"
    TLS_ANY_HOST = "option_tls_any_host"
    TLS_NOT_CHOSEN = "option_tls_not_chosen"
    SECRET_KEY_ALONE = "option_secret_key_alone"
    ACCESS_KEY_ALONE = "option_access_key_alone"
