"""Building what is deployed: `sam build` calls this package through make, `scripts/build` calls `sam build`."""
