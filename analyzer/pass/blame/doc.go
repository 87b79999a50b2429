// Package blame makes the verdict of the causes: without what these cost all ranks, and what stands above them.
//
// In go the causes, the efficiencies and the phases. It is a pass of its own since the ledger and the closer look ask whom the
// verdict names, and the verdict that people read asks the ledger.
package blame
