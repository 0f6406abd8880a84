// Package jobinsight predicts what the next run of a job will use and how long it will take, from runs of the same kind.
//
// A Store keeps a small decaying summary of each kind: the mean and the variance of the logarithms of peak memory, mean CPU and
// duration. A prediction rests on the most specific level that has enough runs: user, queue, application and shape; application and
// shape; application; queue; all. Its interval is conformal: how far former runs were from their predictions, in units of
// the predicted spread, says how wide it has to be, and its miss rates are adapted so that it covers what it states also while
// kinds drift. Runs that were killed or failed are lower bounds of what they needed, not small runs.
package jobinsight
