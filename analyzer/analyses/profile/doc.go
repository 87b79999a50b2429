// Package profile says what calls of each function came to, and who sent how much to whom. The method is that of package
// analyzer/profile.
package profile
