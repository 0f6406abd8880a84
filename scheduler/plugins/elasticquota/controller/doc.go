// Package controller keeps ElasticQuota objects and their pods in line with what the scheduler knows: it creates the built-in
// quotas, writes what each quota uses, asks for and may use into its object, and evicts pods of quotas that use more than
// they may for too long. It runs in the scheduler, in the leader only.
package controller
