// Functions that this component offers to other components.

{
}
