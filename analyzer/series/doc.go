// Package series keeps the durations of repeated things, such as the iterations of a loop, in
// bounded memory, and tests them for a trend.
//
// Its input is durations in order. A Series has the sums of adjacent ones and the longest of them.
// Trends are found with the test of Mann (1945) and Kendall (1975), their slope with the estimator
// of Theil (1950) and Sen (JASA 63, 1968).
package series
