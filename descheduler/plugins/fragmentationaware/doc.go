// Package fragmentationaware is the plugin FragmentationAware: it asks decision/descheduling/fragmentation which pods should leave
// imbalanced nodes, and evicts them.
package fragmentationaware
