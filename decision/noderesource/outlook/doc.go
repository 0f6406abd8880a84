// Package outlook says for how long pods that are put on nodes keep what they request of batch and mid resources. What a node offers
// at least in the coming hours is computed by package overcommit; this package compares it with what is requested.
package outlook
