// Package overcommit decides how much of a node is offered as batch and mid resources, and says why.
//
//	batch = capacity - safety margin - system use - usage of pods above batch (or request, or the larger of both)
//	mid   = predicted unused part of prod requests, but no more than is unused now, + a share of what no pod requested
//
// Every number is computed by one piece of code, Calculate. With a trace it writes down each term with its source. Data that
// is missing, too old or impossible never raises an offer: the resources are withdrawn.
package overcommit
