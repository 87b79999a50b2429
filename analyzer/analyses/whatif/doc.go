// Package whatif predicts the duration of a run under other conditions, by replay. The model and
// its assumptions are in package predict.
package whatif
