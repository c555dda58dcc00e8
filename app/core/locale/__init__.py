"""The languages of the service and their gettext catalogues."""
