// Package webhookserver is the server of the admission webhooks: it limits its clients, and how much they may request at once. Any host
// that can reach the port could otherwise find out by forged reviews what exists in the cluster, or exhaust the manager's memory with
// large ones.
package webhookserver
