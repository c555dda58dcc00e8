"""What the OpenAPI document says beyond what the routes' own types say."""
