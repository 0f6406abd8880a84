// Package profilecases holds cases of ClusterColocationProfiles that every way of applying them must agree on: the pure
// decision, the compiled policy evaluated in process, and a real API server with the policy or with the webhook.
package profilecases
