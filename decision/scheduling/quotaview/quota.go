package quotaview

import (
	"koordinator.sh/koord/decision/scheduling/quota"
)

// Quota is an ElasticQuota with what koord-scheduler published about it.
type Quota struct {
	quota.Spec
	// Depth in its tree: 0 for a quota below the root.
	Depth int
	// Misplaced says why the quota is not below the parent that it names; empty where it is.
	Misplaced string
	// Labels of the object.
	Labels map[string]string
	// Used, Runtime and Request are what the quota uses, may use now and is asked for, its children included. A resource that is not
	// published is absent.
	Used, Runtime, Request quota.Amounts
	// Problems of the object; what cannot be read counts as the problem says.
	Problems []string
}
