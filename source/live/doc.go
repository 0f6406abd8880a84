// Package live answers from a running cluster, with the user's own kubeconfig and rights. Overviews are made from the
// objects. Explanations come from the diagnostics API, and from the objects alone where that API is absent, down or not
// permitted; the answer then says what it could not evaluate.
package live
