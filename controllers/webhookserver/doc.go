// Package webhookserver is the server of the admission webhooks: who may ask, and how much at once. Whoever reaches the port could
// otherwise ask what exists in the cluster by reviews made by hand, or take all memory of the manager with large ones.
package webhookserver
