# Prints error-free reads of a random genome of the given length.
import random
import sys

random.seed(11)
genome = "".join(random.choice("ACGT") for _ in range(int(sys.argv[1])))
for i in range(len(genome) // 2):
    at = random.randrange(len(genome) - 60)
    print(">read%d\n%s" % (i, genome[at:at + 60]))
