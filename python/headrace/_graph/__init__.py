"""What graphs hold besides kernels: references to Python objects, parameters, expressions."""
