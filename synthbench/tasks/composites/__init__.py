"""Quadrant composites of MNIST, Fashion-MNIST and CIFAR (Eureka, section 4 and A.8)."""
