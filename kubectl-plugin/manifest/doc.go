// Package manifest reads from manifests what commands judge before it exists: pods, those of the templates of workloads among them, and
// ElasticQuotas.
package manifest
