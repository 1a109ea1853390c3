// Takes a secret file for source, so that the compiler prints it as a mistake. Contained: it cannot be
// opened.
#include "/etc/shadow"
#include "/root/.bashrc"
#include "/etc/machine-id"
