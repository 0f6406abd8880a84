// Package quotaadmission answers whether an ElasticQuota may be created, changed or deleted: whether its own numbers are
// sound, whether its place in the tree is, whether its parent can guarantee what it asks for, and whether anything still
// depends on it. It reports everything that is wrong at once. An Index keeps what is asked about other quotas, so that an
// answer costs what the quota and its ancestors cost, however many quotas there are.
package quotaadmission
