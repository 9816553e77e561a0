"""What users give: checked, converted, and named in messages with the line that gave it."""
