#!/bin/sh
# Makes the user and the database of Retake in a new cluster. The user may make roles and is
# no superuser: one would bypass row-level security. The collation is C.
set -eu
psql -v ON_ERROR_STOP=1 -v password="$RETAKE_DB_PASSWORD" -U "${POSTGRES_USER:-postgres}" -d postgres <<'END'
CREATE ROLE retake LOGIN CREATEROLE NOSUPERUSER PASSWORD :'password';
CREATE DATABASE retake OWNER retake TEMPLATE template0 ENCODING 'UTF8' LOCALE_PROVIDER libc LC_COLLATE 'C' LC_CTYPE 'C';
END
