// Package nodevalidation decides whether the labels and annotations of a node by which its resources are computed, shown and
// reserved can be read, and do not contradict each other. What was wrong with a node before is not held against a change of
// something else: a node must remain editable.
package nodevalidation
