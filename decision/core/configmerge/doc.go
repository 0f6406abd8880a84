// Package configmerge merges the configuration of ConfigMap slo-controller-config: built-in default, cluster, the first node
// strategy that matches, and for co-location the node's own annotation and labels. One engine works on the JSON of every
// key; it reports everything that is wrong at once, and says for each final value which layer it came from.
package configmerge
