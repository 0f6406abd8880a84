// Package quotaprofile keeps an ElasticQuota for each ElasticQuotaProfile: the root of a quota tree that is as large as the nodes
// that the profile selects. The amounts are decision/admission/quotaprofile's. A quota outlives its profile: what is below it stays
// bounded, and a person decides when the tree goes.
package quotaprofile
