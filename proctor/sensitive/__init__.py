"""What must not be shown, found in a text: keys and personal data, through the ways in which a text can be written."""
