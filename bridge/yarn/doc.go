// Package yarn drives Hadoop YARN's ResourceManager: it reads the nodes and what is allocated on them, and changes what may be allocated.
//
// The messages are those of yarn_protos.proto, yarn_service_protos.proto, yarn_server_resourcemanager_service_protos.proto and
// HAServiceProtocol.proto of Hadoop 3.
package yarn
