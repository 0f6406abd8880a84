// Package protection is the one list of what the API server refuses for the system: admission policies with their bindings, and the
// configurations of the webhooks. It says what is lost without each, and whether an object is still what the chart installed.
package protection
