// Package configuration judges ConfigMap slo-controller-config as a whole and edits it.
//
// Validate reports everything at once: what cannot be parsed, what is out of range, fields that are not read, node strategies that
// overlap or select nothing, settings without effect because their prerequisite is missing, and settings of different
// keys and components that work against each other. Each finding says where it stands, what it was concluded from and
// what to do. The same function serves lint, plan and admission.
//
// Set and Unset change one value of a key's JSON and leave the order of everything else as it is.
package configuration
