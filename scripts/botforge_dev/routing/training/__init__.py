"""Makes the weights of ``botforge/adapters/routing`` in an environment that has scikit-learn and LightGBM."""
