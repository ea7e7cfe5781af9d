"""Many local searches at once: trust-region steps, and quasi-Newton lines over kinks."""
