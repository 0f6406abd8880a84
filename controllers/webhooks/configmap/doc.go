// Package configmap admits writes of ConfigMap slo-controller-config: one with errors is refused as a whole with all of them,
// and what is merely doubtful is said in warnings. The judgement is decision/config/configuration's, as of koordctl config lint.
package configmap
