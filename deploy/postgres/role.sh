#!/bin/sh
# Makes the user and the database of Retake in a new cluster. The user may make roles and is
# no superuser: superusers see the rows of every namespace.
set -eu
psql -v ON_ERROR_STOP=1 -v password="$RETAKE_DB_PASSWORD" -U "${POSTGRES_USER:-postgres}" -d postgres <<'END'
CREATE ROLE retake LOGIN CREATEROLE NOSUPERUSER PASSWORD :'password';
CREATE DATABASE retake OWNER retake;
END
