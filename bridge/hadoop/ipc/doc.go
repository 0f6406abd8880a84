// Package ipc is a client of Hadoop's RPC, version 9, with protocol buffers as payload (RpcHeader.proto and ProtobufRpcEngine of Hadoop 3).
//
// A connection begins with "hrpc", the version, and the connection's context. Each frame after it has a length, a header and a message, the latter
// two with a length of their own. Services that ask for SASL get the token that is given, by DIGEST-MD5; Kerberos is not supported.
// Whatever a server sends, no frame longer than MaxFrame is read, and malformed ones are errors.
package ipc
