// Package quotaview says how ElasticQuotas fare: the state of each in a word, the areas of its bar, and for one of them where its runtime
// comes from, who uses it and which pods do not fit. The numbers are those that koord-scheduler published, and those that package quota
// computes from the same objects.
package quotaview
