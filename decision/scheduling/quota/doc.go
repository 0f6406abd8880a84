// Package quota decides what each ElasticQuota may use now, whether a pod fits into it, and who gives way when it does not.
//
// Quotas form trees. Each quota is guaranteed its min; what is unused of all mins, and what no min covers, is shared
// among the quotas that ask for more, by weight, up to their max. The result is the runtime of a quota. It is computed
// level by level from the top: the children of a quota share the runtime of their parent, those of the root share what the
// tree has in total. All arithmetic is in whole units (thousandths of a CPU, bytes, devices) with 128-bit products, so that
// what is shared out is exactly what was there: no unit is lost to rounding and none is given twice.
//
// A Tree is kept up to date from pods: Hold and Release walk from a quota to the root and stop where nothing changes. They
// only note which sets of siblings are to be shared again; this is done when a runtime is read, and only on the way from the
// root to the quota that is asked about. One change of a request thus costs depth times siblings.
//
// Admission is the same computation for the scheduler, for preemption and for explanations: it collects the numbers of one
// pod and the quotas above it, and Verdict compares them.
package quota
