"""Proximal policy optimisation (Schulman et al. 2017) under damping.

L = L_policy + L_value − c_H H(π) + β_ref KL(π‖ρ) + 0.1 L_prediction, the KL exact over the legal actions. ρ is the
reference of the damping preset. Actor and critic share no weights and have their own learning rates, so L_value has no
coefficient. L_prediction is the cross-entropy of the opponent's simultaneous choice, for networks with such a
prediction.
"""
