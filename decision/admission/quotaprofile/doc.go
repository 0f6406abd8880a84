// Package quotaprofile answers what the ElasticQuota of an ElasticQuotaProfile is: the root of a quota tree that is as large as
// the nodes that the profile selects, and which nodes the pods of such a tree may use.
package quotaprofile
