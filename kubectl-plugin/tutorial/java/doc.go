// Package java has what tutorials and tests need of engines that run in a Java virtual machine: their jars, downloaded by Maven, verified by pinned
// checksums and kept in the user's cache; and an image of them for a real node, with a runtime made by jlink. Nothing of it comes from a
// registry of images.
package java
