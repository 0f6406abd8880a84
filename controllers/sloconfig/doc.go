// Package sloconfig reads ConfigMap slo-controller-config for the controllers of the manager.
//
// A key that cannot be read or is out of range never takes effect: its last valid text stays in force. The texts in force are kept in
// ConfigMap slo-controller-config-last-good, so that a manager that starts with a broken ConfigMap still has them. Problems are
// reported in Warning events on the ConfigMap, in metric slo_controller_config_problems, in an annotation of the last-good ConfigMap,
// and among the findings of every NodeExplanation.
package sloconfig
