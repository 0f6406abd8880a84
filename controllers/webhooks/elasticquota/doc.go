// Package elasticquota admits writes of ElasticQuotas: a mutating handler that completes them and a validating handler that
// refuses what breaks the tree. The judgement is decision/admission/quotaadmission's. A Registry knows all quotas from a watch, and for
// a moment also what it has just admitted, so that quotas that are applied one right after the other see each other.
package elasticquota
