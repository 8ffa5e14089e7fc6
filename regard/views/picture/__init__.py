"""Still pictures: PNG, SVG and PDF by matplotlib."""
