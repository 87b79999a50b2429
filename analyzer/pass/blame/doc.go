// Package blame makes the verdict from the causes alone, without their cost for all ranks and
// without the summary above them.
//
// Its input is the causes, the efficiencies and the phases. It is a pass of its own because the
// ledger and the detail analysis need the ranks that the verdict names, while the final verdict
// needs the ledger.
package blame
