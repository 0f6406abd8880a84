// Package bridge groups what koord-bridge is made of: it shares the batch resources of nodes with schedulers outside of Kubernetes.
//
//	engine    what such a scheduler must be able to do
//	yarn      Hadoop YARN, by the protocols of its ResourceManager (hadoop/)
//	holdings  what pods and reservations hold of each node
//	exchange  the loop that tells both sides what is theirs; decision/noderesource/thirdparty decides
//	app       the program
package bridge
