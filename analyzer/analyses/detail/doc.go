// Package detail looks closer at the ranks that the verdict names: call by call where others wait for them, and where they
// spend their time.
package detail
